/** Severity: with warnings only, the command exits with 0, with problems 7. */
export type Level = 'ok' | 'warning' | 'problem';

/** One result of a check. */
export interface CheckResult {
  /** Stable: `repositories.stale_lock`. */
  check: string;
  level: Exclude<Level, 'ok'>;
  message: string;
  /** Remedy for an administrator, as a command line if there is one. */
  remedy: string | null;
  /** Repairs it without losing data; null if an administrator must decide. Returns what was done. */
  fix: (() => Promise<string>) | null;
}

/** The report of one check group. */
export interface GroupReport {
  area: string;
  findings: CheckResult[];
  /** Shown if there are no results: `214 checked`. */
  summary: string;
}

interface ResultOptions {
  remedy?: string;
  fix?: () => Promise<string>;
}

type Maker = (check: string, message: string, options?: ResultOptions) => CheckResult;

const maker =
  (level: CheckResult['level']): Maker =>
  (check, message, { remedy, fix } = {}) => ({
    check,
    level,
    message,
    remedy: remedy ?? null,
    fix: fix ?? null,
  });

export const problem = maker('problem');
export const warning = maker('warning');
