import type { RepositoryDeps } from '../deps.ts';

/** The message of the listener that understands an option; every option gets a message. */
export function pushOptionWarning({ optionRemarks }: Pick<RepositoryDeps, 'optionRemarks'>, option: string): string {
  for (const remark of optionRemarks) {
    const message = remark(option);
    if (message !== null) return message;
  }
  return `push option ignored: ${option}`;
}
