"""Sockets and HTTP: there is no network, and that is said."""

from tests.faults import Fault, void

OUT = """
import urllib.request
def edge_visits(root):
    return urllib.request.urlopen("http://198.51.100.1/", timeout=1), 1
"""
FAULT = Fault(
    lambda hand: void(
        hand.answer("3.10", OUT), hand.own("import socket; socket.create_connection(('127.0.0.1', 22), timeout=0.5)")
    ),
    {"3.10": 0},
    ("imports socket", "imports urllib"),
    {"3.10": "unreachable"},
)
