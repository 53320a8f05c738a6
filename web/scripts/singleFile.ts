import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/**
 * Puts the one script and the one style sheet of the build into its page, and their digests into the page's policy.
 *
 * @param policy of the page, with `SCRIPT` and `STYLE` for the digests.
 */
export function singleFile(policy: readonly string[]): Plugin {
  return {
    name: "single-file",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      let page = "";
      let script = "";
      let style = "";
      for (const [name, made] of Object.entries(bundle)) {
        if (made.type === "chunk") script += inScript(made.code);
        else if (name.endsWith(".css")) style += String(made.source);
        else if (name.endsWith(".html")) page = String(made.source);
        else throw new Error(`${name} cannot be put into the page.`);
        Reflect.deleteProperty(bundle, name);
      }
      const source = page
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace("PAGE_POLICY", policy.join("; "))
        .replace("SCRIPT", digest(script))
        .replace("STYLE", digest(style))
        .replace("</head>", () => `<style>${style}</style></head>`)
        .replace("</body>", () => `<script>${script}</script></body>`);
      this.emitFile({ type: "asset", fileName: "export.html", source });
    },
  };
}

/** Code whose texts cannot end the element that it stands in, or begin another one. */
function inScript(code: string): string {
  return code.replace(/<(?=!--|\/?script)/gi, "\\x3C");
}

function digest(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
