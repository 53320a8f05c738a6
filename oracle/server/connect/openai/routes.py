"""The calls of OpenAI's clients, and how they are refused."""

from fastapi import APIRouter

from oracle.server.connect.openai import chat, models, responses
from oracle.server.connect.openai.errors import refused

__all__ = ["refused", "router"]

router = APIRouter()
for module in (models, chat, responses):
    router.include_router(module.router)
