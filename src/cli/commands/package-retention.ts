import { invalid } from '../../kernel/index.ts';
import type { RetentionFormat, RetentionRules } from '../../packages/index.ts';
import type { Action } from '../action.ts';
import { counted } from '../terminal/output.ts';
import { actorOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { findOwner } from './find-owner.ts';
import { formatPackageReference, readFormat, readPackageName } from './package-output.ts';

type RetentionOptions = AsOption & {
  keep?: string;
  keepTags?: string;
  olderThan?: string;
  end?: true;
  dryRun?: true;
  apply?: true;
};

/** Rules from the options; null if there are none. Throws `usage`. */
function rulesOf({ keep, keepTags, olderThan }: RetentionOptions): RetentionRules | null {
  if (keep === undefined && keepTags === undefined && olderThan === undefined) return null;
  const countOf = (name: string, text: string | undefined): number | null => {
    if (text === undefined) return null;
    if (!/^\d{1,6}$/.test(text)) throw invalid('usage', `${name} must be a number.`);
    return Number(text);
  };
  return {
    keep: countOf('--keep', keep),
    keepTags: (keepTags ?? '').split(',').filter((pattern) => pattern !== ''),
    olderThanDays: countOf('--older-than', olderThan),
  };
}

const describe = ({ keep, keepTags, olderThanDays }: RetentionRules): string =>
  [
    ...(keep === null ? [] : [`the newest ${keep}`]),
    ...(keepTags.length === 0 ? [] : [keepTags.join(', ')]),
    ...(olderThanDays === null ? [] : [`versions younger than ${counted(olderThanDays, 'day', 'days')}`]),
  ].join('; ');

/** `hearth package retention …` */
export const changeRetention: Action<RetentionOptions, [string | undefined]> = async (cli, options, name) => {
  const rules = rulesOf(options);
  if (options.end && (rules !== null || options.dryRun || options.apply))
    throw invalid('usage', '--end cannot be combined with other options.');
  if (options.apply && (rules !== null || options.dryRun))
    throw invalid('usage', '--apply cannot be combined with rules.');
  const modules = await cli.openModules();
  const { packages } = modules;
  if (name === undefined) {
    if (!options.apply) throw invalid('usage', 'Specify a package, an owner or owner/format, or use --apply for all.');
    await cli.confirm('Delete the versions in all packages that their rules do not keep?');
    const done = await packages.retention.applyAll();
    const line = `Deleted ${counted(done.versions, 'version', 'versions')} in ${counted(done.packages, 'package', 'packages')}.`;
    return cli.output.result(line, done);
  }
  const viewer = await actorOf(modules, options);
  const [handle = '', formatName, more] = name.split('/');
  if (more === undefined) {
    if (options.apply || options.dryRun) throw invalid('usage', '--apply and --dry-run require a package.');
    const owner = await findOwner(modules, handle);
    const format: RetentionFormat = formatName === undefined ? '*' : readFormat(modules, formatName);
    if (rules !== null || options.end) await packages.retention.setOfOwner(viewer, owner, format, rules);
    const kept = (await packages.retention.ofOwner(viewer, owner))[format] ?? null;
    return cli.output.result(kept === null ? `${name} has no retention rules.` : `${name} keeps ${describe(kept)}.`, {
      rules: kept,
    });
  }
  const found = await packages.find(viewer, readPackageName(modules, name), 'manage');
  const at = formatPackageReference(found);
  if (options.apply) {
    await cli.confirm(`Delete the versions of ${at} that the rules do not keep?`);
    const versions = await packages.retention.apply(found.package.id);
    return cli.output.result(`Deleted ${counted(versions, 'version', 'versions')} of ${at}.`, { versions });
  }
  if (!options.dryRun && (rules !== null || options.end))
    found.package = await packages.retention.set(viewer, found, rules);
  const kept = options.dryRun && rules !== null ? rules : ((await packages.retention.of(found.package))?.rules ?? null);
  const gone = await packages.retention.preview(found, kept ?? undefined);
  const first = kept === null ? `${at} has no retention rules.` : `${at} keeps ${describe(kept)}.`;
  const list = gone.map(({ version }) => `\nWould delete ${version}`).join('');
  return cli.output.result(`${first}${list}`, { rules: kept, wouldDelete: gone.map(({ version }) => version) });
};
