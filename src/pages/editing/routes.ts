import type { Route } from '../app/route.ts';
import { confirmFileDeletion, removeFile } from './delete-file.page.ts';
import { sendFile, showEdit, showNew } from './edit-file.page.ts';
import { confirmRevert, revert } from './revert-commit.page.ts';
import { showUpload, uploadFiles } from './upload-files.page.ts';

const at = '/repos/:owner/:name';
const read = { access: 'repository:read', cost: 'objects' } as const;
const write = { access: 'repository:write', cost: 'objects' } as const;

/** A text of a megabyte, of which each byte may take three in a form. */
const maxFormBytes = 4 * 1024 * 1024;

/**
 * Routes for changing files. Users with only read access propose changes, so the pages themselves check permissions.
 */
export const editingRoutes: readonly Route[] = [
  { method: 'GET', path: `${at}/edit/*path`, ...read, page: showEdit },
  { method: 'POST', path: `${at}/edit/*path`, ...read, maxFormBytes, page: sendFile },
  { method: 'GET', path: `${at}/new{/*path}`, ...read, page: showNew },
  { method: 'POST', path: `${at}/new{/*path}`, ...read, maxFormBytes, page: sendFile },
  { method: 'GET', path: `${at}/delete/*path`, ...read, page: confirmFileDeletion },
  { method: 'POST', path: `${at}/delete/*path`, ...read, page: removeFile },
  { method: 'GET', path: `${at}/upload{/*path}`, ...read, page: showUpload },
  { method: 'POST', path: `${at}/upload{/*path}`, ...read, cost: 'change', takesContents: true, page: uploadFiles },
  { method: 'GET', path: `${at}/commit/:id/revert`, ...write, page: confirmRevert },
  { method: 'POST', path: `${at}/commit/:id/revert`, ...write, page: revert },
];
