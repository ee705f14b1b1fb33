import { invalid } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';

export type ProblemReason =
  | 'config_file'
  | 'config_syntax'
  | 'config_unknown_key'
  | 'config_bad_value'
  | 'config_combination';

/** One thing that is wrong with the settings, with everything needed to find it. */
export interface Problem {
  readonly reason: ProblemReason;
  /** Where it is written: `hearth.toml:12`, `SERVICE_HTTP_LISTEN`, `--listen`. */
  readonly where: string;
  readonly key: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
}

/** One error for all problems, so that a person fixes them in one go; a line each. */
export function problemsError(problems: readonly Problem[]): DomainError {
  const lines = problems.map((problem) => `${problem.where}: ${problem.message}`);
  return invalid(problems[0]?.reason ?? 'config_bad_value', lines.join('\n'), {
    ...(problems[0]?.key == null ? {} : { field: problems[0].key }),
  });
}
