/**
 * Markdown of the model, as clean markup. It is the one place of the console that sets markup: marked makes it, DOMPurify takes away whatever is
 * not on a short list, and nothing in it loads from anywhere.
 */
import DOMPurify from "dompurify";
import { Marked, type Tokens } from "marked";
import { memo, useMemo, type MouseEvent } from "react";
import { NO_LINKS, type MarkdownLinks } from "./markdownBlocks";
import { isTame } from "./tame";
import { toast } from "./Toast";
import "./Markdown.css";

const TAGS = [
  "p",
  "br",
  "hr",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "strong",
  "em",
  "del",
  "blockquote",
  "ul",
  "ol",
  "li",
];
TAGS.push("code", "pre", "a", "table", "thead", "tbody", "tr", "th", "td", "input", "button");

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);

/** A piece of code in the text that names a place which can be opened. */
interface PlaceToken extends Tokens.Codespan {
  isPlace?: boolean;
}

/** The address of links to places: they are opened by the page. */
const PLACE = "#place";

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    html: ({ text }) => escaped(text), // shown as it was written
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`, // nothing is fetched unasked
    code: ({ text }) => `<pre><button type="button">Copy</button><code>${escaped(text)}\n</code></pre>`,
    codespan(token: PlaceToken) {
      const code = `<code>${escaped(token.text)}</code>`;
      return token.isPlace ? `<a href="${PLACE}">${code}</a>` : code;
    },
  },
});

const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A" || node.getAttribute("href") === PLACE) return;
  if (!/^(https?:|mailto:)/i.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
  node.setAttribute("rel", "noopener noreferrer");
  node.setAttribute("target", "_blank");
});

/**
 * Clean markup of a Markdown text, as the trusted type that the policy of the page asks for. Pieces of code for which
 * `isPlace` is true are links. Null for a text that cannot be parsed.
 */
function cleanMarkup(text: string, links: MarkdownLinks, isPlace?: IsPlace): TrustedHTML | null {
  if (!isTame(text)) return null;
  try {
    return parsed(text, links, isPlace);
  } catch (error) {
    if (error instanceof RangeError) return null; // nested too deep in a way that `isTame` does not know
    throw error;
  }
}

function parsed(text: string, links: MarkdownLinks, isPlace?: IsPlace): TrustedHTML {
  const lexer = new marked.Lexer({ ...marked.defaults });
  for (const [label, link] of links) lexer.tokens.links[label] = link;
  const tokens = lexer.lex(text);
  void marked.walkTokens(tokens, (token) => {
    if (token.type === "codespan")
      (token as PlaceToken).isPlace = isPlace?.((token as PlaceToken).text) ?? false;
  });
  return purify.sanitize(marked.parser(tokens), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "start", "align", "type", "checked", "disabled"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
  });
}

type IsPlace = (code: string) => boolean;

interface MarkdownProps {
  text: string;
  /** Where references lead that the text itself does not define. */
  links?: MarkdownLinks;
  /** Whether a piece of code names a place that `onPlace` can open. */
  isPlace?: IsPlace | undefined;
  onPlace?: ((code: string) => void) | undefined;
}

export const Markdown = memo(function Markdown({ text, links = NO_LINKS, isPlace, onPlace }: MarkdownProps) {
  const markup = useMemo(() => cleanMarkup(text, links, isPlace), [text, links, isPlace]);
  const click = (event: MouseEvent) => {
    const pressed =
      event.target instanceof Element ? event.target.closest(`pre > button, a[href="${PLACE}"]`) : null;
    if (!pressed) return;
    event.preventDefault();
    if (pressed.tagName === "A") onPlace?.(pressed.textContent);
    else void copy(pressed.nextElementSibling?.textContent ?? "");
  };
  if (markup === null) return <div className="markdown markdown-plain">{text}</div>;
  return (
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions, no-restricted-syntax -- the buttons and links in it are what is pressed; the markup was cleaned just above
    <div className="markdown" onClick={click} dangerouslySetInnerHTML={{ __html: markup }} />
  );
});

async function copy(code: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(code);
    toast("Copied.");
  } catch {
    toast("The browser does not allow copying here.");
  }
}
