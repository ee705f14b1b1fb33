import { refuseShortName } from '../git/index.ts';
import { invalid } from '../kernel/index.ts';

const shape = /^(?!-)(?!.*(?:\.\.|@\{|\/\/|\.lock(?:\/|$)|\/\.|\.$|\/$))[^\x00-\x20\x7f~^:?*[\\]+$/;

/** Validates the name of a new branch by git's rules for refs. Throws `invalid_branch_name`. */
export function parseBranchName(text: string): string {
  if (text.length > 200 || !shape.test(text) || text.startsWith('.') || text.startsWith('/')) {
    throw invalid('invalid_branch_name', 'git does not accept this branch name.', { field: 'default_branch' });
  }
  const reason = refuseShortName(text);
  if (reason !== null)
    throw invalid('invalid_branch_name', `This is not a valid branch name: ${reason}.`, { field: 'default_branch' });
  return text;
}
