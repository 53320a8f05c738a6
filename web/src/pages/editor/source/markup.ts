/** The short Markdown of the service's descriptions as elements. Text only ever becomes text nodes. */

/** Paragraphs, fenced code, `code` and **strong**; everything else stands as it is written. */
export function described(markdown: string): HTMLElement {
  const holder = document.createElement("div");
  holder.className = "cm-described";
  for (const part of markdown.split(/^```.*$/m).map((text, at) => ({ text, isCode: at % 2 === 1 }))) {
    if (part.isCode) {
      holder.appendChild(document.createElement("pre")).textContent = part.text.replace(/^\n|\n$/g, "");
      continue;
    }
    for (const paragraph of part.text.split(/\n\s*\n/)) {
      if (paragraph.trim()) appendInline(holder.appendChild(document.createElement("p")), paragraph.trim());
    }
  }
  return holder;
}

function appendInline(holder: HTMLElement, text: string): void {
  for (const part of text.split(/(`[^`]+`|\*\*[^*]+\*\*)/)) {
    if (part.startsWith("`") && part.length > 2) {
      holder.appendChild(document.createElement("code")).textContent = part.slice(1, -1);
    } else if (part.startsWith("**") && part.length > 4) {
      holder.appendChild(document.createElement("strong")).textContent = part.slice(2, -2);
    } else if (part) {
      holder.append(part);
    }
  }
}
