/** Longer quotations are cut. */
const longestQuotation = 4_000;

/** A text as a Markdown quotation, followed by an empty line for the reply. */
export function quoteText(body: string): string {
  const text =
    body.length > longestQuotation ? `${body.slice(0, longestQuotation).replace(/[\ud800-\udbff]$/, '')}…` : body;
  return `${text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')}\n\n`;
}
