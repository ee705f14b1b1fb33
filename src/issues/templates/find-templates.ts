import type { Git, TreeEntry } from '../../git/index.ts';
import { nullIfNotFound, unavailable } from '../../kernel/index.ts';
import type { TaskLimits, WorkerPool } from '../../workers/index.ts';
import { templateLimits } from './issue-template.ts';
import type { IssueTemplate, ParsedTemplate, TemplateConfig, TemplateProblem } from './issue-template.ts';
import type { run } from './template-task.ts';

export interface TemplateDeps {
  git: Pick<Git, 'refs' | 'objects'>;
  workers: WorkerPool;
}

/** Source of templates: a repository that the viewer can read, as returned by `repositories.find`. */
export interface TemplatePlace {
  /** The bare repository on disk. */
  path: string;
  repository: { id: string; defaultBranch: string };
}

export interface IssueTemplates extends TemplateConfig {
  /** Sorted by file name. */
  templates: IssueTemplate[];
  /** Files that are not valid templates; they do not hide others. */
  problems: TemplateProblem[];
}

const none: IssueTemplates = { templates: [], problems: [], blankIssues: true, contactLinks: [] };

const taskLimits: TaskLimits = {
  // The longest file takes a tenth of this time.
  deadlineMs: 500,
  maxWaitMs: 3_000,
  // Two bytes per character beyond Latin-1.
  maxInputBytes: 3 * templateLimits.fileBytes,
  maxResultBytes: 1024 * 1024,
};

/** Template folders and files in order of precedence; only the first that has templates counts. */
const folders = ['.hearth', '.forgejo', '.gitea', '.github'];
const isTemplateFile = /\.(?:md|markdown|ya?ml)$/i;
const isSingleFile = /^issue[_-]template\.(?:md|markdown|ya?ml)$/i;

/**
 * The issue templates of the default branch of a repository: `.hearth/issue/`, or `ISSUE_TEMPLATE/` and
 * `ISSUE_TEMPLATE.md` below `.hearth`, `.forgejo`, `.gitea` and `.github`, or a file of that name in the root or in
 * `docs`. Throws `busy` when the worker pool is.
 */
export async function findTemplates(deps: TemplateDeps, place: TemplatePlace): Promise<IssueTemplates> {
  const oid = await deps.git.refs.tip(place.path, `refs/heads/${place.repository.defaultBranch}`);
  if (oid === null) return none;
  const files = await findFiles(deps, place.path, oid);
  const found: IssueTemplates = { ...none, templates: [], problems: [] };
  for (const { path, parsed } of await Promise.all(files.map((file) => parse(deps, place, file)))) {
    if (parsed.kind === 'template') found.templates.push(parsed.template);
    else if (parsed.kind === 'config') Object.assign(found, parsed.config);
    else found.problems.push({ path, message: parsed.message });
  }
  return found;
}

interface TemplateFile {
  path: string;
  name: string;
  oid: string;
}

async function findFiles({ git }: TemplateDeps, path: string, oid: string): Promise<TemplateFile[]> {
  const list = async (folder: string): Promise<TreeEntry[]> =>
    (await git.objects.tree(path, oid, folder).catch(nullIfNotFound))?.entries ?? [];
  const root = await list('');
  const has = (name: string): boolean => root.some((entry) => entry.name === name && entry.kind === 'folder');
  for (const folder of folders.filter(has)) {
    const entries = await list(folder);
    const isFolder = ({ name, kind }: TreeEntry): boolean =>
      kind === 'folder' && (/^issue_template$/i.test(name) || (folder === '.hearth' && name === 'issue'));
    for (const { name } of entries.filter(isFolder)) {
      const files = filesOf(await list(`${folder}/${name}`), `${folder}/${name}/`, isTemplateFile);
      if (files.length > 0) return files.slice(0, templateLimits.files);
    }
    const single = filesOf(entries, `${folder}/`, isSingleFile);
    if (single.length > 0) return single.slice(0, 1);
  }
  const single = filesOf(root, '', isSingleFile);
  if (single.length > 0) return single.slice(0, 1);
  return has('docs') ? filesOf(await list('docs'), 'docs/', isSingleFile).slice(0, 1) : [];
}

const filesOf = (entries: readonly TreeEntry[], folder: string, pattern: RegExp): TemplateFile[] =>
  entries
    .filter(({ name, kind }) => (kind === 'file' || kind === 'executable') && pattern.test(name))
    .map(({ name, oid }) => ({ path: folder + name, name, oid }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

const words = {
  input_too_large: `This is larger than ${templateLimits.fileBytes / 1024} KiB.`,
  result_too_large: 'This holds too much.',
  deadline: 'This takes too long to read.',
  memory: 'This takes too much memory to read.',
  failed: 'This could not be read.',
} as const;

async function parse(
  { git, workers }: TemplateDeps,
  { path: repositoryPath, repository }: TemplatePlace,
  { path, name, oid }: TemplateFile,
): Promise<{ path: string; parsed: ParsedTemplate }> {
  const { content } = await git.objects.blob(repositoryPath, oid, { maxBytes: templateLimits.fileBytes });
  if (content === null) return { path, parsed: { kind: 'problem', message: words.input_too_large } };
  const outcome = await workers.run<typeof run>({
    task: 'issue-template',
    key: `${oid} ${name}`,
    input: () => ({ name, content: content.toString('utf8') }),
    client: repository.id,
    limits: taskLimits,
  });
  if (outcome.ok) return { path, parsed: outcome.value };
  if (outcome.reason === 'busy') throw unavailable('busy', 'The server is busy. Please try again in a moment.');
  return { path, parsed: { kind: 'problem', message: words[outcome.reason] } };
}
