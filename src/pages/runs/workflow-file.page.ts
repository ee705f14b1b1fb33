import { hash } from 'node:crypto';
import { page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { viewCodeLines } from '../code/code-lines.view.ts';
import { repositoryUrl, runPathNumber } from '../../http/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { runUrl } from './run-row.view.ts';
import type { RunsDeps } from './deps.ts';

/** The workflow file of a run as read from its commit, with the files that it calls. */
export const showWorkflowFile: Page<RepositoryContext, RunsDeps> = async (context, deps): Promise<Reply> => {
  const { found, params, viewer } = context;
  const { run } = await deps.ci.runs.find(found, runPathNumber(params.number));
  const { main: text, called } = await deps.ci.runs.filesOf(viewer, run);
  const coloured = await deps.highlighting.highlight({
    oid: hash('sha256', text),
    fileName: 'workflow.yml',
    text,
    client: found.path,
  });
  const head = viewRepositoryHeader(found);
  return page('runs/workflow-file', {
    repository: head,
    run: { number: run.number, url: runUrl(head.url, run.number), workflow: viewName(run.workflowName) },
    path: viewName(run.workflowPath),
    sha: run.sha.slice(0, 10),
    code: viewCodeLines(text, coloured, null),
    called: called.map(({ path, commit }) => {
      const [owner = '', name = ''] = commit?.repository.split('/') ?? [];
      const sha = commit?.sha ?? run.sha;
      return {
        path: viewName(path),
        repository: commit?.repository ?? null,
        sha: sha.slice(0, 10),
        url: codeUrl(commit === null ? head.url : repositoryUrl({ owner, name }), 'blob', sha, Buffer.from(path)),
      };
    }),
  });
};
