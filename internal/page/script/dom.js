const count = (n, what) => n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");

// element returns an element with a text. Texts from files go into the page by textContent alone.
function element(name, text, className) {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
}

// printable replaces what a reader would not see by escapes, as all outputs do.
const invisible = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\u115f\u1160\u3164\uffa0\ufe00-\ufe0f\u{e0000}-\u{e0fff}]/gu;
function printable(text) {
  return text.replace(invisible, c => {
    const code = c.codePointAt(0).toString(16);
    return code.length < 3 ? "\\x" + code.padStart(2, "0") : code.length < 5 ? "\\u" + code.padStart(4, "0") : "\\U" + code.padStart(8, "0");
  });
}
