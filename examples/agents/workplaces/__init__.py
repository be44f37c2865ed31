"""The workplaces, one for each category."""

from workplaces.booking import BOOKING
from workplaces.code_repair import CODE_REPAIR
from workplaces.data_lookup import DATA_LOOKUP
from workplaces.file_tidying import FILE_TIDYING
from workplaces.inventory import INVENTORY
from workplaces.office_calendar import CALENDAR
from workplaces.shopping import SHOPPING
from workplaces.support_tickets import SUPPORT_TICKETS
from workplaces.workplace import Workplace

__all__ = ["WORKPLACES"]

WORKPLACES: dict[str, Workplace] = {
    workplace.name: workplace
    for workplace in (
        BOOKING,
        INVENTORY,
        FILE_TIDYING,
        SUPPORT_TICKETS,
        DATA_LOOKUP,
        CALENDAR,
        SHOPPING,
        CODE_REPAIR,
    )
}
