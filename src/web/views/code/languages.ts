import type { ListedFile } from '../../../git/index.ts';
import { languageOf } from '../../../highlighting/index.ts';

export interface LanguageShareView {
  name: string;
  colour: string;
  /** Of a bar of 1000 units, and as people read it. */
  start: number;
  width: number;
  percent: string;
}

const shown = 6;
const other = { name: 'Other', colour: '#8a8078' };

/** Folders of work that others did. */
const foreign = /(?:^|\/)(?:vendor|node_modules|third[_-]party|deps|dist|build)\//;

/** What a repository is written in, by bytes: programming languages, or whatever there is when there is none. */
export function viewLanguages(files: readonly ListedFile[]): LanguageShareView[] {
  const sums = { programming: new Map<string, number>(), all: new Map<string, number>() };
  const colours = new Map<string, string>();
  for (const { path, size } of files) {
    const text = path.toString('latin1');
    const language = foreign.test(text) ? null : languageOf(text);
    if (language === null || size === 0) continue;
    colours.set(language.name, language.colour);
    for (const sum of language.isProgramming ? [sums.programming, sums.all] : [sums.all]) sum.set(language.name, (sum.get(language.name) ?? 0) + size);
  }
  return share([...(sums.programming.size > 0 ? sums.programming : sums.all)], colours);
}

function share(sums: [name: string, bytes: number][], colours: ReadonlyMap<string, string>): LanguageShareView[] {
  const total = sums.reduce((sum, [, bytes]) => sum + bytes, 0);
  const ordered = sums.sort((a, b) => b[1] - a[1]);
  const first = ordered.slice(0, shown).filter(([, bytes]) => bytes / total >= 0.005);
  const rest = total - first.reduce((sum, [, bytes]) => sum + bytes, 0);
  let start = 0;
  return [...first, ...(rest / total >= 0.001 ? [[other.name, rest] as const] : [])].map(([name, bytes]) => {
    const width = (bytes / total) * 1000;
    const view = { name, colour: colours.get(name) ?? other.colour, start, width, percent: `${(width / 10).toFixed(1)} %` };
    start += width;
    return view;
  });
}
