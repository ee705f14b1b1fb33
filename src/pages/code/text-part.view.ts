import { formatNumber, t } from '../../translation/index.ts';
import type { TextPart } from './text-parts.ts';

/** The shown lines and links to the others, as queries of the same page; null where all are shown. */
export function viewPart({ number, count, firstLine, lastLine, lineCount }: Omit<TextPart, 'text'>, isSource: boolean) {
  if (count === 1) return null;
  const queryOf = (part: number): string | null =>
    part < 1 || part > count ? null : `?${isSource ? 'plain=1&' : ''}part=${part}`;
  const [first, last, all] = [firstLine, lastLine, lineCount].map((line) => formatNumber(line));
  return {
    lines:
      firstLine === lastLine
        ? t('code.text_part.line_first_of_all', { first, all })
        : t('code.text_part.lines_first_to_last_of_all', { first, last, all }),
    isSource,
    lineCount,
    previous: queryOf(number - 1),
    next: queryOf(number + 1),
  };
}
