"""Workbooks as Excel saves them, as small as they can be."""

from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZipFile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def write_workbook(path, sheets, *, sheet_xml=None):
    """Writes sheets, by name: rows of cells. `sheet_xml` takes the place of the first one's XML."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>'
        + "".join(
            f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="r{number}"/>'
            for number, name in enumerate(sheets, start=1)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{number}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{number}.xml"/>'
            for number in range(1, len(sheets) + 1)
        )
        + "</Relationships>",
    }
    for number, rows in enumerate(sheets.values(), start=1):
        parts[f"xl/worksheets/sheet{number}.xml"] = _sheet(rows)
    if sheet_xml is not None:
        parts["xl/worksheets/sheet1.xml"] = sheet_xml
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, HEAD + text)


def write_table(path, rows, sheet="Sheet1"):
    """Writes rows, which all have the same columns, below a header."""
    write_workbook(path, {sheet: [list(rows[0]), *(list(row.values()) for row in rows)]})


def _sheet(rows):
    lines = (
        f'<row r="{number}">{"".join(_cell(place, number, cell) for place, cell in enumerate(cells))}</row>'
        for number, cells in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def _cell(place, row, value):
    where = f'r="{_letters(place)}{row}"'
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f'<c {where} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c {where}><v>{value!r}</v></c>"
    text = escape(value.replace("\r", "_x000D_"))
    return f'<c {where} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _letters(place):
    return ("" if place < 26 else _letters(place // 26 - 1)) + chr(ord("A") + place % 26)
