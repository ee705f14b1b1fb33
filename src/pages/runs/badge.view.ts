import type { RunStatus } from '../../ci/index.ts';

const words: Record<RunStatus | 'none', [text: string, colour: string]> = {
  success: ['passing', '#2c6b3f'],
  failure: ['failing', '#b02a20'],
  cancelled: ['cancelled', '#675f56'],
  skipped: ['skipped', '#675f56'],
  blocked: ['waiting', '#8a5a00'],
  waiting: ['waiting', '#8a5a00'],
  running: ['running', '#8a5a00'],
  cancelling: ['running', '#8a5a00'],
  none: ['no runs', '#675f56'],
};

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The reader's font is unknown; `textLength` makes the text fit the width measured here. */
const widthOf = (text: string): number =>
  Math.ceil(
    [...text].reduce(
      (sum, character) =>
        sum +
        (/[Iilj.,:;' |!]/.test(character) ? 3.6 : /[mwMW@]/.test(character) ? 10 : /[A-Z]/.test(character) ? 7.8 : 6.6),
      0,
    ),
  );

const maxLabel = 60;

/** The state of a workflow as an image for READMEs: its name, then the status on a colour. */
export function badgeSvg(name: string, status: RunStatus | null): string {
  const [word, colour] = words[status ?? 'none'];
  const label = name.slice(0, maxLabel);
  const left = widthOf(label) + 16;
  const right = widthOf(word) + 16;
  const text = (x: number, length: number, value: string) =>
    `<text x="${x}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${escape(value)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${escape(`${label}: ${word}`)}">
<title>${escape(`${label}: ${word}`)}</title>
<clipPath id="r"><rect width="${left + right}" height="20" rx="4"/></clipPath>
<g clip-path="url(#r)"><rect width="${left}" height="20" fill="#3b3530"/><rect x="${left}" width="${right}" height="20" fill="${colour}"/></g>
<g fill="#fff" font-family="system-ui,Verdana,sans-serif" font-size="11">${text(8, left - 16, label)}${text(left + 8, right - 16, word)}</g>
</svg>
`;
}
