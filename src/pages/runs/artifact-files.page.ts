import type { ArtifactFile } from '../../ci/index.ts';
import { runPathNumber } from '../../http/index.ts';
import { formatContentDisposition } from '../app/content-disposition.ts';
import { viewCount, viewSize } from '../app/format-numbers.ts';
import { viewName } from '../app/printable-names.ts';
import { content, page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { RunsDeps } from './deps.ts';
import { runUrl } from './run-row.view.ts';
import { t } from '../../translation/index.ts';

const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');
/** Maximum number of rows of one folder; the archive itself contains all files. */
const maxRows = 1_000;

interface FolderRow {
  name: string;
  url: string;
  isFolder: boolean;
  size: string;
  note: string | null;
}

/** The folders and files directly in a folder, folders first. */
function rowsOf(files: readonly ArtifactFile[], folder: string, url: string): FolderRow[] {
  const folders = new Map<string, { count: number; bytes: number }>();
  const rows: FolderRow[] = [];
  for (const { path, bytes } of files) {
    if (!path.startsWith(folder)) continue;
    const rest = path.slice(folder.length);
    const slash = rest.indexOf('/');
    if (slash === -1) {
      rows.push({
        name: viewName(rest),
        url: `${url}/${encodePath(path)}`,
        isFolder: false,
        size: viewSize(bytes),
        note: null,
      });
      continue;
    }
    const name = rest.slice(0, slash);
    const sum = folders.get(name) ?? { count: 0, bytes: 0 };
    folders.set(name, { count: sum.count + 1, bytes: sum.bytes + bytes });
  }
  const inside = [...folders].map(([name, { count, bytes }]) => ({
    name: viewName(name),
    url: `${url}?path=${encodeURIComponent(`${folder}${name}`)}`,
    isFolder: true,
    size: viewSize(bytes),
    note: viewCount(count, 'file'),
  }));
  return [...inside, ...rows];
}

/** The files in one artifact of a run, folder by folder. Query: `path`, a folder. */
export const showArtifactFiles: Page<RepositoryContext, RunsDeps> = async ({ found, params, query }, { ci }) => {
  const number = runPathNumber(params.number);
  const { artifact, files, refused } = await ci.artifacts.files(found, number, runPathNumber(params.id));
  const head = viewRepositoryHeader(found);
  const url = `${runUrl(head.url, number)}/artifacts/${artifact.id}/files`;
  const folder = (query.get('path') ?? '').replace(/\/+$/, '');
  const rows = rowsOf(files, folder === '' ? '' : `${folder}/`, url);
  const parts = folder === '' ? [] : folder.split('/');
  return page('runs/artifact-files', {
    repository: head,
    run: { number, url: runUrl(head.url, number) },
    artifact: {
      name: viewName(artifact.name),
      url: `${runUrl(head.url, number)}/artifacts/${artifact.id}`,
      files: url,
    },
    total: t('runs.artifact_files.files_and_size', {
      files: viewCount(files.length, 'file'),
      size: viewSize(files.reduce((sum, { bytes }) => sum + bytes, 0)),
    }),
    folders: parts.map((name, at) => ({
      name: viewName(name),
      url: `${url}?path=${encodeURIComponent(parts.slice(0, at + 1).join('/'))}`,
    })),
    rows: rows.slice(0, maxRows),
    more: Math.max(0, rows.length - maxRows),
    refused,
  });
};

/** One file of an artifact, always as a download, because a job wrote its content. */
export const downloadArtifactFile: Page<RepositoryContext, RunsDeps> = async (
  { found, params },
  { ci },
): Promise<Reply> => {
  const {
    path,
    bytes,
    content: body,
  } = await ci.artifacts.openFileIn(found, runPathNumber(params.number), runPathNumber(params.id), params.path ?? '');
  return content('application/octet-stream', body, {
    headers: {
      'Content-Disposition': formatContentDisposition('attachment', Buffer.from(path.slice(path.lastIndexOf('/') + 1))),
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Content-Length': String(bytes),
      Vary: 'Cookie, Authorization',
      'Cache-Control': 'private, no-cache',
    },
  });
};
