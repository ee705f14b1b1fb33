/** Longer quotations are cut: who replies quotes what they answer. */
const longestQuotation = 4_000;

/** A text as a Markdown quotation, with an empty line behind it to write on. */
export function quoteText(body: string): string {
  const text =
    body.length > longestQuotation ? `${body.slice(0, longestQuotation).replace(/[\ud800-\udbff]$/, '')}…` : body;
  return `${text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')}\n\n`;
}
