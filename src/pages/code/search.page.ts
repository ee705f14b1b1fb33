import { page, type Reply } from '../app/reply.ts';
import { readSearchQuery } from '../../http/index.ts';
import { submitForm } from '../app/submit-form.ts';
import { readTabClasses } from './read-editor-configs.ts';
import { viewGrep } from './search-code.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { CodeDeps } from './deps.ts';

const maxLines = 500;
const linesPerFile = 20;

/**
 * `B/search?q=`: lines of the default branch. `case=1` distinguishes upper and lower case, `pattern=1` treats the query
 * as a regular expression; otherwise it is literal text.
 */
export const searchRepository: Page<RepositoryContext, CodeDeps> = async ({ found, query }, deps): Promise<Reply> => {
  const { git } = deps;
  const text = readSearchQuery(query);
  const repository = viewRepositoryHeader(found);
  const [isPattern, isExact] = [query.get('pattern') === '1', query.get('case') === '1'];
  const shown = { repository, query: text, isPattern, isExact };
  const { branch, oid } = await git.refs.head(found.path);
  if (oid === null || text.trim() === '') return page('code/search', { ...shown, branch, files: null, refusal: null });
  return submitForm(
    async () => {
      const { lines, isWhole } = await git.queries.grep(found.path, {
        oid,
        text,
        isPattern,
        ignoresCase: !isExact,
        limit: maxLines,
        perFile: linesPerFile,
      });
      const paths = [...new Set(lines.map(({ file }) => file.toString()))];
      const tabsOf = await readTabClasses({ found }, deps, oid, paths);
      const files = viewGrep(lines, repository.url, branch ?? oid, isPattern ? '' : text, tabsOf);
      return page('code/search', {
        ...shown,
        branch,
        files,
        lines: lines.length,
        isWhole,
        linesPerFile,
        refusal: null,
      });
    },
    (refusal) => page('code/search', { ...shown, branch, files: null, refusal }),
  );
};
