/** Snippets of the Language Server Protocol, as the service writes them, in the form that CodeMirror reads. */

const PART =
  /\\([\\$}|,])|\$(\d+)|\$\{(\d+)\}|\$\{(\d+):((?:\\.|[^\\}])*)\}|\$\{(\d+)\|((?:\\.|[^\\|])*)\|\}|([#$]\{)/g;

/** `$1`, `${1:text}`, `${1|a,b|}` and `$0` become fields; of a choice the first word is proposed. */
export function snippetTemplate(lsp: string): string {
  return lsp.replace(
    PART,
    (
      all: string,
      escaped?: string,
      bare?: string,
      braced?: string,
      named?: string,
      text?: string,
      choice?: string,
      words?: string,
      literal?: string,
    ) => {
      if (escaped !== undefined) return escaped;
      if (literal !== undefined) return `${literal.slice(0, 1)}\\{`;
      const number = bare ?? braced ?? named ?? choice;
      if (number === undefined) return all;
      const proposed = text ?? words?.split(/(?<!\\),/)[0] ?? "";
      return number === "0" ? "${}" : `\${${number}:${plain(proposed)}}`;
    },
  );
}

function plain(text: string): string {
  return text.replace(/\\(.)/g, "$1");
}
