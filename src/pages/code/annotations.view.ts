import type { Annotation, AnnotationLevel, FileFinding } from '../../ci/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { escapeHtml } from '../app/code-html.ts';
import type { DiffRow } from './diff-lines.view.ts';
import type { CodeDeps } from './deps.ts';

/** An annotation of a job on its commit, in a list. */
interface AnnotationView {
  level: AnnotationLevel;
  icon: string;
  title: string | null;
  message: string;
  /** `file:line` and its URL; null for an annotation without a file. */
  file: { text: string; url: string } | null;
  job: string;
  workflow: string;
  /** Link to the row of the log that it comes from. */
  url: string;
}

const icons: Readonly<Record<AnnotationLevel, string>> = { error: 'cross', warning: 'alert', notice: 'comment' };

export function viewAnnotation(annotation: Annotation, repository: string): AnnotationView {
  const { level, title, message, path, firstLine, lastLine, commitId, row, job, run } = annotation;
  const lines =
    firstLine === null ? '' : lastLine === firstLine ? `${firstLine}` : `${firstLine}-${lastLine ?? firstLine}`;
  return {
    level,
    icon: icons[level],
    title: title === null ? null : viewName(title),
    message: message.split('\n').map(viewName).join('\n'),
    file:
      path === null
        ? null
        : {
            text: `${viewName(path)}${lines === '' ? '' : `:${lines}`}`,
            url: `${codeUrl(repository, 'blob', commitId, Buffer.from(path))}${lines === '' ? '' : `?lines=${lines}#L${firstLine}`}`,
          },
    job: viewName(job.name),
    workflow: viewName(run.workflowName),
    url: `${repository}/runs/${run.number}/jobs/${job.id}?row=${row}#L${row + 1}`,
  };
}

/** A result of the workflow check about one line of the file. */
const viewFinding = ({ severity, line, message }: FileFinding, path: string, fileUrl: string): AnnotationView => {
  const url = `${fileUrl}?lines=${line}#L${line}`;
  return {
    level: severity,
    icon: icons[severity],
    title: null,
    message: viewName(message),
    file: { text: `${viewName(path)}:${line}`, url },
    job: t('code.annotations.workflow_check'),
    workflow: '',
    url,
  };
};

/** The notes below the lines of a file, by line number. */
export type LineNotes = ReadonlyMap<number, readonly AnnotationView[]>;

export interface CommitAnnotations {
  views: AnnotationView[];
  /** Annotations of the lines of one file. */
  inFile(path: Buffer): LineNotes;
  /** Dependency: jobs add annotations without a change of refs. */
  dependency: Dependency;
}

/**
 * The annotations of a commit by its jobs.
 * @param paths files of the page; the workflows among them are also checked
 */
export async function readAnnotations(
  { found }: RepositoryContext,
  { ci }: Pick<CodeDeps, 'ci'>,
  oid: string,
  paths: readonly string[] = [],
): Promise<CommitAnnotations> {
  const dependency = await dependOn(() => ci.annotations.ofCommit(found, oid));
  const url = repositoryUrl(found.canonical);
  // If the check fails, the page is shown without it.
  const checked = await ci.workflows.checkFiles(found, oid, paths).catch(() => []);
  return {
    views: dependency.value.map((one) => viewAnnotation(one, url)),
    inFile(path) {
      const name = path.toString();
      const here = dependency.value.filter((one) => one.path === name && one.firstLine !== null);
      const notes = new Map(
        [...Map.groupBy(here, (one) => one.lastLine ?? one.firstLine!)].map(([line, group]) => [
          line,
          group.map((one) => viewAnnotation(one, url)),
        ]),
      );
      const file = codeUrl(url, 'blob', oid, path);
      for (const { findings } of checked.filter((one) => one.path === name))
        for (const one of findings) notes.set(one.line, [...(notes.get(one.line) ?? []), viewFinding(one, name, file)]);
      return notes;
    },
    dependency,
  };
}

const noteHtml = ({ level, title, message, job, url }: AnnotationView): string =>
  `<span class="line-note is-${level}"><strong>${level}</strong> ${title === null ? '' : `<strong>${escapeHtml(title)}</strong> `}` +
  `${escapeHtml(message)} <a href="${escapeHtml(url)}">${escapeHtml(job)}</a></span>`;

/** Rows of a diff, with the notes below the lines of the newer version. */
export function withNotes(rows: readonly DiffRow[], notes: LineNotes, columns: number): readonly DiffRow[] {
  if (notes.size === 0) return rows;
  return rows.map((row) => {
    const here = row.fresh === null ? undefined : notes.get(row.fresh);
    if (here === undefined) return row;
    return {
      ...row,
      html: `${row.html}<tr class="note"><td colspan="${columns}">${here.map(noteHtml).join('')}</td></tr>`,
    };
  });
}

/** Lines of a file from `viewCodeLines`, starting at `firstLine`, with the notes below. */
export function withLineNotes(html: string, notes: LineNotes, firstLine: number): string {
  if (notes.size === 0) return html;
  return html
    .split(/(?=<span class="line(?: marked)?"><a id="L)/)
    .map((line, at) => line + (notes.get(at + firstLine) ?? []).map(noteHtml).join(''))
    .join('');
}
