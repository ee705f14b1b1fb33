import { isDomainError } from '../../kernel/index.ts';
import { retryAfter } from '../../http/index.ts';
import { translateRefusal } from '../../translation/index.ts';
import { statusOfRefusal } from './map-errors.ts';
import type { PageReply, RedirectReply, Reply } from './reply.ts';

/** The reason for refusing a form, for the page that shows it again. */
export interface FormRefusal {
  /** A sentence for the summary and, when `field` is set, for display beside the field. */
  message: string;
  /** The name of the field the message is about; null when it is about the whole form. */
  field: string | null;
}

/**
 * Runs the use-case of a form. When it refuses, the same form is rendered again with the entered values and the reason,
 * with the status of the error.
 *
 * @param act calls one use-case and responds with a redirect
 * @param again renders the form page with the refusal
 * @param fieldNames names of form fields that differ from those of the use-case, `{username: 'handle'}`
 */
export async function submitForm(
  act: () => Promise<Reply>,
  again: (refusal: FormRefusal) => PageReply | Promise<PageReply | RedirectReply>,
  fieldNames: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  try {
    return await act();
  } catch (error) {
    const status = isDomainError(error) ? statusOfRefusal(error) : 500;
    if (!isDomainError(error) || ![403, 409, 422, 429].includes(status)) throw error;
    const field = error.field === undefined ? null : (fieldNames[error.field] ?? error.field);
    const headers = retryAfter(status, error);
    const shown = await again({ message: translateRefusal(error), field });
    // The subject of the form has moved to another URL.
    return shown.kind === 'redirect' ? shown : { ...shown, status, headers };
  }
}
