import { notFound } from '../../kernel/index.ts';
import type { Page } from '../app/request-context.ts';

/** Every address that is not in the table, so that the 404 page knows who is looking. */
export const showNotFound: Page = () => {
  throw notFound();
};
