import type { ChangedFile } from '../../git/index.ts';
import { escapeHtml } from '../app/code-html.ts';
import { t } from '../../translation/index.ts';

/** Numbers of unchanged lines around a change, from few to the whole file. */
export const contextSteps: readonly number[] = [3, 25, 200, 20_000];

/** The step from `?context=`; the first one for an invalid value. */
export function readContextLines(query: URLSearchParams): number {
  const wanted = Number(query.get('context') ?? contextSteps[0]);
  return contextSteps.includes(wanted) ? wanted : contextSteps[0]!;
}

/** The query value of the step; null for the first, which is omitted. */
export const contextParameter = (lines: number): string | null => (lines === contextSteps[0] ? null : String(lines));

/**
 * The link behind the range of a hunk that shows this file with more lines around its changes, as HTML; empty where the
 * whole file is shown.
 * @param address URL of the page with this file alone and the given number of lines
 */
export function moreLinesLink(file: ChangedFile, lines: number, address: (context: string) => string): string {
  const wider = contextSteps[contextSteps.indexOf(lines) + 1];
  const isWhole = file.oldMode === '000000' || file.newMode === '000000' || wider === undefined;
  return isWhole
    ? ''
    : ` <a class="more-lines" href="${escapeHtml(address(String(wider)))}">${escapeHtml(t('code.context_lines.more_lines'))}</a>`;
}
