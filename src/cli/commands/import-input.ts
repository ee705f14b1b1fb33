import type { SourceKind } from '../../imports/index.ts';
import { invalid } from '../../kernel/index.ts';

const kinds: Readonly<Record<string, SourceKind>> = {
  gitea: 'gitea',
  forgejo: 'gitea',
  github: 'github',
  gitlab: 'gitlab',
};
export const sourceKindNames = Object.keys(kinds).join(', ');

/** A user's name for a kind of forge. Throws `usage`. */
export function readKind(text: string | undefined): SourceKind | undefined {
  const kind = text === undefined ? undefined : kinds[text];
  if (text !== undefined && kind === undefined) throw invalid('usage', `--kind must be one of ${sourceKindNames}.`);
  return kind;
}

/** `15m`, `8h`, `1d` in milliseconds. Throws `usage`. */
function readTime(text: string): number {
  const [, count, unit] = /^(\d{1,5})(m|h|d)$/.exec(text) ?? [];
  if (count === undefined) throw invalid('usage', 'Enter an interval such as 15m, 8h or 1d.');
  return Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd'];
}

/** The source of an import and the data to import. */
export interface SourceOptions {
  kind?: string;
  secretFile?: string;
  secretStdin?: true;
  watch?: string;
  issues: boolean;
  pulls: boolean;
  releases: boolean;
  lfs: boolean;
  wiki: boolean;
  reactions: boolean;
  deployKeys?: true;
}

/** The requested data in the form of the imports module. Throws `usage`. */
export const readWishes = ({ watch, issues, pulls, releases, lfs, wiki, reactions, deployKeys }: SourceOptions) => ({
  watchMs: watch === undefined ? null : readTime(watch),
  withIssues: issues,
  withPulls: pulls,
  withReleases: releases,
  withLfs: lfs,
  withWiki: wiki,
  withReactions: reactions,
  withDeployKeys: deployKeys === true,
});
