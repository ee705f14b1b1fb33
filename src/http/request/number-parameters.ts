import { notFound } from '../../kernel/index.ts';

/**
 * A number in the path of a run, a job or an artifact. Throws `run_not_found` if it is not a number: there is no such
 * page.
 */
export function runPathNumber(text: string | undefined): number {
  if (text === undefined || !/^\d{1,15}$/.test(text)) throw notFound('run_not_found', 'There is no such run.');
  return Number(text);
}

/** A number in a query; ignores any other value, as for all query parameters. */
export function queryNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
