"""What requests of OpenAI's clients have in common: a body, texts, names without a meaning here, headers, models.

The models that a client may name are the trees, and the provider's models under a tree, as `oracle/claude-…`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, Final, NamedTuple

import structlog
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bt_runtime.text.data import dataclass
from oracle.agent.control.choosing import DEFAULT_TREE
from oracle.core.encoding import from_json
from oracle.core.errors import UserError
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import Parts
from oracle.server.api.bodies import AttachmentBody
from oracle.server.api.errors import bounded, json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.connect.base.chain import ClientQuestion, Said, check_amount
from oracle.server.connect.base.files import KINDS, files_of

log = structlog.get_logger(__name__)


router = APIRouter()


class ModelChoice(NamedTuple):
    """What a name of a model stands for: a tree, and the provider's model; `None`: the configured one."""

    tree: str
    model: str | None = None


@router.get("/v1/models")
async def list_models(parts: Parts) -> Response:
    """All models, `oracle` first."""
    return json_answer({"object": "list", "data": [_described(name) for name in model_names(parts)]})


@router.get("/v1/models/{model:path}")
async def read_model(model: str, parts: Parts) -> Response:
    """One of them."""
    choose_model(model, parts)
    return json_answer(_described(model))


def model_names(parts: ServiceParts) -> list[str]:
    """All that are listed: a request may name others where the operator has listed no models."""
    trees = sorted(parts.oracle.named_trees, key=lambda name: name != DEFAULT_TREE)
    models = parts.settings.models if parts.provider_answers else ()
    return [*trees, *(f"{DEFAULT_TREE}/{model}" for model in models)]


def choose_model(name: object, parts: ServiceParts) -> ModelChoice:
    """What a name stands for.

    Raises:
        UserError: there is no such model, or it may not be named.
    """
    known = ", ".join(model_names(parts)[:20])
    if name is None:
        raise UserError(f"name a model; the known ones are {known}", loc=("body",))
    text = str(name)
    tree, slash, model = text.partition("/")
    if parts.oracle.may_name(tree):
        if not slash:
            return ModelChoice(tree)
        if model.strip() and parts.provider_answers and parts.settings.allows_model(model):
            return ModelChoice(tree, model)
    raise UserError(f"there is no model {bounded(text)!r}; the known ones are {known}", loc=("body", "model"))


def model_of(run: RunRecord) -> str:
    """The name by which a request names what has answered a run."""
    model = run.input.get("model")
    return run.tree if model is None else f"{run.tree}/{model}"


def _described(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "oracle"}


_MOST_NAMES: Final = 200
_LONGEST_NAME: Final = 64
_MOST_PAIRS: Final = 16
_UNNAMED: Final = frozenset({"", "new", "null", "none", "undefined"})
"""What products send in place of a name that there is not yet."""


class IgnoredNames:
    """The names of parameters without a meaning here, each logged once in a process."""

    def __init__(self) -> None:
        self._named: set[str] = set()

    def note(self, names: Iterable[str]) -> None:
        """Some were sent."""
        for name in {name[:_LONGEST_NAME] for name in names} - self._named:
            if len(self._named) < _MOST_NAMES:  # who sends new names on and on does not fill the log
                self._named.add(name)
                log.info("openai.parameter_ignored", name=name)


IGNORED: Final = IgnoredNames()


@dataclass(slots=True)
class Talk:
    """What the messages of a request say.

    Args:
        said: by the user and the assistant, oldest first.
        instructions: the texts of system messages, oldest first.
        files: of the last message.
    """

    said: list[Said] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    files: list[AttachmentBody] = field(default_factory=list)

    @property
    def question(self) -> str:
        """The last text, if it is the user's and not blank; else empty."""
        is_asked = bool(self.said) and self.said[-1].role == "user" and self.said[-1].text.strip() != ""
        return self.said[-1].text if is_asked else ""

    def features(self, form: Mapping[str, Any]) -> dict[str, Any]:
        """What features read: the files, and the form of the answer, where that is no text."""
        forms = {"response_format": form} if form.get("type", "text") != "text" else {}
        return {**({"attachments": self.files} if self.files else {}), **forms}

    def add(self, message: Mapping[str, Any], *place: str | int, text: str) -> None:
        """Add a message.

        Raises:
            UserError: there is no such role, or a file of the user's has no bytes.
        """
        role = message.get("role")
        self.files = files_of(message.get("content"), *place, "content") if role == "user" else []
        if role in ("system", "developer"):
            self.instructions.append(text)
        elif role in ("user", "assistant"):
            self.said.append(Said(role, text))
        else:
            known = "system, developer, user and assistant"
            raise wrong(f"there is no role {bounded(role)!r}; the known ones are {known}", *place, "role")


async def json_object(request: Request) -> Mapping[str, Any]:
    """The body of a request.

    Raises:
        UserError: it is no JSON object.
    """
    try:
        body = from_json(await request.body())
    except ValueError as error:
        raise UserError(f"the body is not JSON: {bounded(error)}", loc=("body",)) from None
    if not isinstance(body, dict):
        raise UserError("the body must be a JSON object", loc=("body",))
    check_amount(body)
    return body


def wrong(problem: str, *place: str | int) -> UserError:
    """The refusal of a part of a body."""
    return UserError(problem, loc=("body", *place))


def typed(body: Mapping[str, Any], name: str, kind: type[Any]) -> Any:  # noqa: ANN401
    """A value of this type; an empty one where none is given.

    Raises:
        UserError: it is of another type.
    """
    given = body.get(name)
    if given is not None and not isinstance(given, kind):
        shapes = {bool: "true or false", str: "a text", dict: "an object", list: "a list"}
        raise wrong(f"this must be {shapes[kind]}", name)
    return kind() if given is None else given


def text_of(content: object, *place: str | int, fields: Mapping[str, str], left_out: Collection[str] = ()) -> str:
    """The text of a message's content, which is a text or a list of parts.

    Args:
        content: the value of `content`, not checked yet.
        place: keys and indexes that lead to it in the body.
        fields: where a part of each kind has its text.
        left_out: the kinds of parts that are passed over.

    Raises:
        UserError: it is neither, or has a part of another kind.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise wrong("this must be a text or a list of parts", *place)
    texts = []
    for at, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in left_out or kind in KINDS:
            continue
        text = part[fields[kind]] if isinstance(kind, str) and fields.get(kind) in part else None
        if not isinstance(text, str):
            raise wrong(f"parts of content must be texts here; {bounded(kind)!r} cannot be read", *place, at)
        texts.append(text)
    return "\n".join(texts)


def metadata_of(body: Mapping[str, Any]) -> dict[str, str]:
    """The pairs of texts that are to be kept with what is asked; their lengths are checked where it is begun.

    Raises:
        UserError: they are no texts, or too many.
    """
    given: dict[str, Any] = typed(body, "metadata", dict)
    if len(given) > _MOST_PAIRS or not all(isinstance(value, str) for value in given.values()):
        raise wrong(f"metadata must be an object of at most {_MOST_PAIRS} texts", "metadata")
    return given


def placed(asked: ClientQuestion, model: object, request: Request, parts: ServiceParts) -> ClientQuestion:
    """The question with the tree and the model that are named, and what the headers say of it.

    Raises:
        UserError: there is no such model, or it may not be named.
    """
    chosen = choose_model(model, parts)
    by_header = _name(request.headers.get(each, "") for each in parts.settings.conversation_headers)
    in_body = asked.conversation
    if in_body is None and by_header is None:
        in_body = _name(asked.metadata.get(each, "") for each in ("conversation_id", "chat_id"))
    # Products, which send headers, send their history; who names the conversation in the body may send what is new.
    is_whole = bool(asked.said) or in_body is None
    count = request.headers.get("x-stainless-retry-count", "")  # of a library that sends the request again
    is_repeat = count.isascii() and count.isdigit() and count.strip("0") != ""
    asked = replace(asked, tree=chosen.tree, model=chosen.model, conversation=in_body or by_header)
    return replace(asked, is_repeat=is_repeat, is_whole=is_whole)


def _name(given: Iterable[str]) -> str | None:
    """The first that is a name, and no placeholder that nobody has filled in."""
    names = (each for each in map(str.strip, given) if each.casefold() not in _UNNAMED and "{{" not in each)
    return next(names, None)
