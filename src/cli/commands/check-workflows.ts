import { readdirSync } from 'node:fs';
import path from 'node:path';
import { checkWorkflow, workflowFolders } from '../../ci/index.ts';
import type { FileFinding } from '../../ci/index.ts';
import { embedded } from '../../embedded/index.ts';
import { invalid, silentLogger } from '../../kernel/index.ts';
import { createWorkerPool } from '../../workers/index.ts';
import type { Action } from '../action.ts';
import type { Cli } from '../cli.ts';
import { readGivenFile } from '../terminal/read-given-file.ts';

/** `hearth workflow check`: requires neither a server nor a data folder. */
export const checkWorkflows: Action<object, [string[]]> = async (cli, _options, files) => {
  const found: (FileFinding & { file: string })[] = [];
  const workers = createWorkerPool({ embedded, logger: silentLogger });
  try {
    for (const file of files) {
      const named = { path: path.basename(file), text: read(cli, file) };
      found.push(...(await checkWorkflow(workers, named, besides(cli, file))).map((one) => ({ file, ...one })));
    }
  } finally {
    await workers.stop();
  }
  const errors = found.filter(({ severity }) => severity === 'error').length;
  const warnings = found.length - errors;
  cli.output.list(
    found,
    [
      { title: 'PLACE', cell: ({ file, line, column }) => `${file}:${line}:${column}`, whole: true },
      { title: 'KIND', cell: ({ severity }) => severity, whole: true },
      { title: 'MESSAGE', cell: ({ message }) => message, whole: true },
    ],
    ['finding', 'findings'],
    (one) => one,
  );
  if (errors > 0)
    throw invalid(
      'workflow_refused',
      `${errors === 1 ? 'One error' : `${errors} errors`}, ${warnings === 1 ? '1 warning' : `${warnings} warnings`}.`,
    );
};

/** A longer file than a workflow may be is reported by the check. */
const read = (cli: Cli, file: string): string =>
  readGivenFile(cli, file, { what: 'The file', reason: 'usage', maxBytes: 16 * 1024 * 1024 }).toString('utf8');

/** The workflows in the folder of a file, which it may call. */
function besides(cli: Cli, file: string): Map<string, string> {
  const full = path.resolve(cli.process.cwd(), file);
  const folder = workflowFolders.find((one) => full.includes(`/${one}/`));
  if (folder === undefined) return new Map();
  const at = full.slice(0, full.indexOf(`/${folder}/`) + folder.length + 1);
  const names = readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ya?ml$/.test(name));
  return new Map(names.slice(0, 100).map((name) => [`${folder}/${name}`, read(cli, path.join(at, name))]));
}
