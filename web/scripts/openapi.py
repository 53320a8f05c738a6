"""Prints the OpenAPI document of the service, of which the console's types are made."""

import json
import sys

from oracle.server.api.app import describe_service

json.dump(describe_service(), sys.stdout)
