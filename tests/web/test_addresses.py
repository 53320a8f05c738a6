"""The service knows the addresses of the console, and says them as the console does."""

import re

from oracle.server.api.console import ADDRESSES
from tests.web.built import REPOSITORY, WEB


def plain(address):
    """An address with a mark in place of each name that stands for something."""
    return re.sub(r"\{\w+\}|:\w+|…", "*", address)


def test_each_page_of_the_console_has_an_address_of_the_service():
    routes = re.findall(r'<Route path="([^"]+)"', (WEB / "src" / "app" / "App.tsx").read_text(encoding="utf-8"))
    assert {plain(route) for route in routes} == {plain(address) for address in ADDRESSES}


def test_the_documented_addresses_are_those_of_the_service():
    page = (REPOSITORY / "docs" / "operating.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"(?s)\*\*Addresses\.\*\* (.*?) are one page", page)
    assert {first(each) for each in re.findall(r"`([^`]+)`", told)} == {first(address) for address in ADDRESSES}


def first(address):
    return "/".join(address.split("/")[:2])
