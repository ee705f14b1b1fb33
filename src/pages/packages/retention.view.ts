import type { Packages, RetentionRules } from '../../packages/index.ts';
import type { PersonContext } from '../app/request-context.ts';

/** The retention rules of a package, for its settings. */
interface RetentionView {
  keep: string;
  keepTags: string;
  olderThanDays: string;
  isOwn: boolean;
  isInherited: boolean;
  /** Number of versions that they would delete now; null without rules. */
  wouldDelete: number | null;
  names: readonly string[];
}

const shownNames = 20;

export function viewRetention(
  effective: Awaited<ReturnType<Packages['retention']['of']>>,
  gone: readonly { version: string }[],
): RetentionView {
  const isOwn = effective?.from === 'package';
  const rules = effective?.rules;
  return {
    keep: rules?.keep?.toString() ?? '',
    keepTags: rules?.keepTags.join(', ') ?? '',
    olderThanDays: rules?.olderThanDays?.toString() ?? '',
    isOwn,
    isInherited: effective !== null && !isOwn,
    wouldDelete: effective === null ? null : gone.length,
    names: gone.slice(0, shownNames).map(({ version }) => version),
  };
}

/** The submitted values, after a refusal. */
export const typedRules = ({ form }: PersonContext) => ({
  keep: form.text('keep'),
  keepTags: form.text('keep_tags'),
  olderThanDays: form.text('older_than_days'),
});

/** The rules in the form; an invalid number is refused as out of range. */
export function readRules(context: PersonContext): RetentionRules {
  const typed = typedRules(context);
  const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text.trim()));
  return {
    keep: numberOf(typed.keep),
    keepTags: typed.keepTags.split(/[\s,]+/),
    olderThanDays: numberOf(typed.olderThanDays),
  };
}
