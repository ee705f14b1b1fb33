import type { ListedFile } from '../../git/index.ts';
import { sumLanguages } from '../../repositories/index.ts';
import type { AttributesOf } from '../../repositories/index.ts';
import { t } from '../../translation/index.ts';

interface LanguageShareView {
  name: string;
  colour: string;
  /** Share in a bar of 1000 units, and as text. */
  start: number;
  width: number;
  percent: string;
}

const shown = 6;
const otherColour = '#8a8078';

/** The languages of a repository, as a bar. */
export function viewLanguages(files: readonly ListedFile[], attributesOf: AttributesOf | null): LanguageShareView[] {
  const sums = sumLanguages(files, attributesOf);
  const total = sums.reduce((sum, { bytes }) => sum + bytes, 0);
  const first = sums.slice(0, shown).filter(({ bytes }) => bytes / total >= 0.005);
  const rest = total - first.reduce((sum, { bytes }) => sum + bytes, 0);
  let start = 0;
  return [
    ...first,
    ...(rest / total >= 0.001 ? [{ name: t('code.languages.other'), colour: otherColour, bytes: rest }] : []),
  ].map(({ name, colour, bytes }) => {
    const width = (bytes / total) * 1000;
    const view = { name, colour, start, width, percent: `${(width / 10).toFixed(1)} %` };
    start += width;
    return view;
  });
}
