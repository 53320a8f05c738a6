"""Joins the parts into an `Oracle`: the one module that knows every adapter."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import cast
from uuid import uuid4

import trees
from bt_runtime import Clock, SystemClock, TreeLibrary
from oracle.agent.run import Equipment
from oracle.answering import Oracle
from oracle.classify import HeuristicIntent, IntentClassifier
from oracle.conversations import Conversations, MemoryConversations
from oracle.models import Model
from oracle.models.offline import OfflineModel
from oracle.nodes import REGISTRY
from oracle.settings import Settings
from oracle.tools import ToolRegistry, project_tools, vault_tools, web_tools
from prompts import load_segments
