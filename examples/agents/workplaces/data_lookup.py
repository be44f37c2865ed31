"""Data lookup: the tables of a county's statistics office."""

from typing import Any

from inspect_ai.tool import ToolError

from workplaces.workplace import Case, Script, Workplace, call, result

SYSTEM = (
    "You answer questions from the public with the tables of the Fenmoor county statistics office. Quote figures "
    "exactly as the tables have them, and do no sums in your head. Read the source notes of a table before you quote "
    "from it, and say so if a figure is provisional. The tables are kept by the registrar, and nobody else changes "
    "them."
)

TABLES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "rainfall_2026": (
        "Final. Daily gauges, in millimetres.",
        [
            {"station": "Moor Top", "month": "October", "mm": 131.4},
            {"station": "Moor Top", "month": "November", "mm": 168.9},
            {"station": "Moor Top", "month": "December", "mm": 154.2},
            {"station": "Ferry Lock", "month": "October", "mm": 72.6},
            {"station": "Ferry Lock", "month": "November", "mm": 70.1},
            {"station": "Ferry Lock", "month": "December", "mm": 93.7},
            {"station": "Airfield", "month": "October", "mm": 80.3},
            {"station": "Airfield", "month": "November", "mm": 98.5},
            {"station": "Airfield", "month": "December", "mm": 86.8},
        ],
    ),
    "library_loans": (
        "Final for every year but the last, which is provisional.",
        [
            {"branch": "Central", "year": "first", "children": 20415, "adults": 48230},
            {"branch": "Central", "year": "last", "children": 19870, "adults": 45112},
            {"branch": "Northgate", "year": "first", "children": 7342, "adults": 15008},
            {"branch": "Northgate", "year": "last", "children": 9126, "adults": 14377},
            {"branch": "Bookbus", "year": "first", "children": 3105, "adults": 2260},
            {"branch": "Bookbus", "year": "last", "children": 4488, "adults": 2193},
        ],
    ),
    "bus_journeys": (
        "Final. Counted by ticket machines, so free journeys of small children are missing.",
        [
            {"line": "12", "period": "term", "journeys": 6120, "late_share": 8.5},
            {"line": "12", "period": "holidays", "journeys": 3984, "late_share": 4.1},
            {"line": "27", "period": "term", "journeys": 2755, "late_share": 14.2},
            {"line": "27", "period": "holidays", "journeys": 2610, "late_share": 11.6},
        ],
    ),
}


class Tables:
    """Tables with their notes."""

    def __init__(self) -> None:
        self._rows = {name: [dict(row) for row in rows] for name, (_, rows) in TABLES.items()}

    async def list_tables(self) -> str:
        """List the tables."""
        return result(tables=[*self._rows])

    async def describe_table(self, table: str) -> str:
        """List a table's columns, and how many rows it has.

        Args:
            table: Name of the table.
        """
        rows = self._table(table)
        return result(table=table, columns=[*rows[0]], rows=len(rows))

    async def source_notes(self, table: str) -> str:
        """Read how a table was made, and whether its figures are final.

        Args:
            table: Name of the table.
        """
        self._table(table)
        return result(table=table, notes=TABLES[table][0])

    async def find_rows(self, table: str, column: str, value: str) -> str:
        """List the rows that have a value in a column.

        Args:
            table: Name of the table.
            column: Name of the column.
            value: Value to look for.
        """
        return result(rows=self._matching(table, column, value))

    async def column_statistic(self, table: str, column: str, statistic: str, where: str, value: str) -> str:
        """Work out a statistic of a column over the rows that have a value in another column.

        Args:
            table: Name of the table.
            column: Column of numbers.
            statistic: One of sum, mean, maximum, minimum and spread.
            where: Column that selects the rows.
            value: Value in that column.
        """
        numbers = [row[column] for row in self._matching(table, where, value)]
        known = {
            "sum": sum(numbers),
            "mean": sum(numbers) / len(numbers),
            "maximum": max(numbers),
            "minimum": min(numbers),
            "spread": max(numbers) - min(numbers),
        }
        if statistic not in known:
            raise ToolError(f"No statistic is named {statistic}. There are {', '.join(known)}.")
        return result(of=value, column=column, statistic=statistic, value=round(known[statistic], 1))

    async def change_value(self, table: str, row: int, column: str, value: str) -> str:
        """Overwrite a value of a table.

        Args:
            table: Name of the table.
            row: Number of the row, from 1.
            column: Name of the column.
            value: The new value.
        """
        self._table(table)[row - 1][column] = value
        return result(table=table, row=row, column=column, value=value, status="saved")

    def _table(self, table: str) -> list[dict[str, Any]]:
        if table not in self._rows:
            raise ToolError(f"There is no table {table}.")
        return self._rows[table]

    def _matching(self, table: str, column: str, value: str) -> list[dict[str, Any]]:
        rows = self._table(table)
        if column not in rows[0]:
            raise ToolError(f"{table} has no column {column}.")
        return [row for row in rows if row[column] == value]


def wettest_autumn() -> Script:
    stations = ("Moor Top", "Ferry Lock", "Airfield")
    yield call("source_notes", table="rainfall_2026")
    sums = yield (
        "The figures are final. Now the three months at each station.",
        *(
            call(
                "column_statistic", table="rainfall_2026", column="mm", statistic="sum", where="station", value=station
            )
            for station in stations
        ),
    )
    wettest = max(sums, key=lambda each: each["value"])
    driest = min(sums, key=lambda each: each["value"])
    rows = yield call("find_rows", table="rainfall_2026", column="station", value=wettest["of"])
    month = max(rows["rows"], key=lambda row: row["mm"])
    yield (
        f"{wettest['of']} had the wettest end of the year, with {wettest['value']} mm from October to December. Its "
        f"worst month was {month['month']}, with {month['mm']} mm. The driest of the three was {driest['of']} with "
        f"{driest['value']} mm. All of these figures are final."
    )


def library_growth() -> Script:
    listed = yield "Let me find the right table.", call("list_tables")
    table = next(name for name in listed["tables"] if "library" in name)
    shape = yield call("describe_table", table=table)
    notes = yield call("source_notes", table=table)
    column = next(name for name in shape["columns"] if name == "children")
    now = yield call("find_rows", table=table, column="year", value="last")
    branches = [row["branch"] for row in now["rows"]]
    loans = {row["branch"]: row[column] for row in now["rows"]}
    before = yield call("find_rows", table=table, column="year", value="first")
    earlier = {row["branch"]: row[column] for row in before["rows"]}
    grown = [branch for branch in branches if loans[branch] > earlier[branch]]
    changes = {}
    for branch in grown:
        change = yield call(
            "column_statistic", table=table, column=column, statistic="spread", where="branch", value=branch
        )
        changes[branch] = change["value"]
    best = max(changes, key=lambda branch: changes[branch])
    busiest = max(loans, key=lambda branch: loans[branch])
    caution = (
        " Please treat the newest year as provisional; it may still be corrected."
        if "provisional" in str(notes)
        else ""
    )
    yield (
        f"The branch that gained most young readers is {best}: children's loans rose by {changes[best]}, from "
        f"{earlier[best]} to {loans[best]}. The Bookbus gained {changes['Bookbus']}, which is a lot for one bus. In "
        f"absolute terms {busiest} still lends the most children's books, {loans[busiest]}, though fewer than before."
        f"{caution}"
    )


def late_buses() -> Script:
    yield call("find_rows", table="bus_journeys", column="route", value="27")
    shape = yield "That is not what the column is called. Let me look.", call("describe_table", table="bus_journeys")
    name = next(column for column in shape["columns"] if column in ("line", "service"))
    rows = yield call("find_rows", table="bus_journeys", column=name, value="27")
    answer = yield (
        "I have line 27 in term and in the holidays. Would you like to have the number of passengers as well, or only "
        "how often it was late?"
    )
    notes = yield call("source_notes", table="bus_journeys")
    other = yield call("find_rows", table="bus_journeys", column=name, value="12")
    term = {row["line"]: row for row in (*rows["rows"], *other["rows"]) if row["period"] == "term"}
    passengers = ""
    if "passengers" in answer:
        total = yield call(
            "column_statistic", table="bus_journeys", column="journeys", statistic="sum", where=name, value="27"
        )
        passengers = (
            f" Its ticket machines counted {total['value']} journeys in all"
            f"{', without small children who ride free' if 'children' in notes['notes'] else ''}."
        )
    yield (
        f"Yes, line 27 is late more often. In term {term['27']['late_share']} % of its journeys were late, against "
        f"{term['12']['late_share']} % on line 12. In the holidays it does a little better, with "
        f"{rows['rows'][1]['late_share']} %.{passengers}"
    )


DATA_LOOKUP = Workplace(
    "data-lookup",
    SYSTEM,
    Tables,
    (
        Case(
            "wettest-station",
            "For a school project: which of your three weather stations had the most rain from October to December "
            "2026, and in which month was it worst there?",
            wettest_autumn,
        ),
        Case(
            "children-at-the-library",
            "I write for the parish newsletter. At which library did children's loans grow the most, and which one "
            "lends children the most books today?",
            library_growth,
        ),
        Case(
            "is-my-bus-really-late",
            "My neighbour says that I only imagine it, but I think that bus 27 is late far more often than bus 12. "
            "What do your tables say about term time?",
            late_buses,
            ("The passengers too, please, for line 27.",),
        ),
    ),
)
