import { Readable } from 'node:stream';
import { content, type Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt } from './conversation.reply.ts';

const types = { json: 'application/json; charset=utf-8', markdown: 'text/markdown; charset=utf-8' } as const;

/** Streams the whole log of an issue while reading it: a log of any length takes the memory of one page of it. */
const exportAs =
  (format: 'json' | 'markdown'): Page<RepositoryContext, IssuesDeps> =>
  async (context, { issues }): Promise<Reply> => {
    const chunks = await issues.exportIssue(context.viewer, issueAt(context), format);
    return content(types[format], Readable.from(chunks, { objectMode: true }).map(toBytes), {
      headers: {
        'Cache-Control': 'private, no-store',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        Vary: 'Cookie, Authorization',
      },
    });
  };

const toBytes = (text: string): Buffer => Buffer.from(text);

/** `B/issues/{number}.json` and `B/issues/{number}.md`. */
export const showIssueAsJson = exportAs('json');
export const showIssueAsMarkdown = exportAs('markdown');
