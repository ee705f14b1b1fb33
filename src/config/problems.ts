import { invalid } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';

export type ProblemReason =
  | 'config_file'
  | 'config_syntax'
  | 'config_unknown_key'
  | 'config_bad_value'
  | 'config_combination';

/** One problem with the settings, with everything needed to find it. */
export interface Problem {
  readonly reason: ProblemReason;
  /** Its location: `hearth.toml:12`, `SERVICE_HTTP_LISTEN`, `--listen`. */
  readonly where: string;
  readonly key: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
}

/** One error for all problems, a line each, so that they can be fixed together. */
export function problemsError(problems: readonly Problem[]): DomainError {
  const lines = problems.map((problem) => `${problem.where}: ${problem.message}`);
  return invalid(problems[0]?.reason ?? 'config_bad_value', lines.join('\n'), {
    ...(problems[0]?.key == null ? {} : { field: problems[0].key }),
  });
}
