/** How bad something is: a warning alone ends the command with 0, a problem with 7. */
export type Level = 'ok' | 'warning' | 'problem';

/** One thing that the doctor has found. */
export interface CheckResult {
  /** Stable: `repositories.stale_lock`. */
  check: string;
  level: Exclude<Level, 'ok'>;
  message: string;
  /** What a person can do, as a line to type where there is one. */
  remedy: string | null;
  /** Cures it without losing anything; null where a person must decide. Answers what was done. */
  fix: (() => Promise<string>) | null;
}

/** What one area has to say. */
export interface GroupReport {
  area: string;
  findings: CheckResult[];
  /** For the line that says all is well: `214 checked`. */
  summary: string;
}

export interface ResultOptions {
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
