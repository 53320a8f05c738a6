"""The calls of OpenAI's clients, and how they are refused."""

from fastapi import APIRouter

from oracle.server.connect.openai import chat, requests, responses
from oracle.server.connect.openai.errors import refused

__all__ = ["refused", "router"]

router = APIRouter()
for module in (requests, chat, responses):
    router.include_router(module.router)
