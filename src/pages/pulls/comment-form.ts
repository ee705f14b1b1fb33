import { pathText } from '../../pulls/index.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { queryNumber } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import type { RenderedText } from '../markdown/render-text.ts';
import type { ChangesUrlBuilder, ChangesQuery, CommentPosition } from './changes-urls.ts';
import type { PlacedForm } from './place-threads.ts';
import type { ReviewFormInput } from './review-form.view.ts';

/** The submitted values of the page's forms, so that they are shown again unchanged. */
export interface ChangesForms {
  refusal?: FormRefusal | null;
  /** A new comment at a place, optionally with a preview. */
  comment?: {
    place: CommentPosition;
    first: string;
    last: string;
    side: 'OLD' | 'NEW';
    body: string;
    isPreview: boolean;
  };
  reply?: { threadId: string; body: string };
  edit?: { threadId: string; position: number; body: string };
  review?: ReviewFormInput;
}

/** The form of a new comment. */
interface CommentFormView {
  title: string;
  /** In the form of `pathText`; '' for the round as a whole. */
  path: string;
  side: 'OLD' | 'NEW';
  /** The line of the form; null for a comment on a file, whose lines the user types, or on the round. */
  line: number | null;
  isAtLine: boolean;
  /** Null for a comment on the round. */
  lines: { first: string; last: string } | null;
  body: string;
  preview: RenderedText | null;
  refusal: FormRefusal | null;
  cancelUrl: string;
}

/** The form for a URL or a refused form; null without either. */
export function commentFormAt(
  { query: parameters }: Pick<RepositoryContext, 'query'>,
  query: ChangesQuery,
  address: ChangesUrlBuilder,
  { comment, refusal = null }: ChangesForms,
  preview: RenderedText | null,
): PlacedForm<CommentFormView> | null {
  const place = comment?.place ?? query.comment;
  if (place === null) return null;
  const cancelUrl = address();
  const typed = { body: comment?.body ?? '', preview, refusal: comment === undefined ? null : refusal, cancelUrl };
  if (place.kind === 'round') {
    const form = {
      title: t('pulls.comment_form.comment_on_the_round_as_a'),
      path: '',
      side: 'NEW' as const,
      line: null,
      isAtLine: false,
      lines: null,
      ...typed,
    };
    return { form, path: null, side: 'NEW', lastLine: null };
  }
  const path = pathText(place.path);
  const name = viewName(path);
  if (place.kind === 'file') {
    const side = comment?.side ?? 'NEW';
    const lines = { first: comment?.first ?? '', last: comment?.last ?? '' };
    const form = {
      title: t('pulls.comment_form.comment_on_name', { name }),
      path,
      side,
      line: null,
      isAtLine: false,
      lines,
      ...typed,
    };
    return { form, path, side, lastLine: null };
  }
  const { line, side } = place;
  const last = Math.max(line, queryNumber(parameters, 'last') ?? line);
  const lines = { first: comment?.first ?? String(line), last: comment?.last ?? String(last) };
  return {
    form: {
      title: t('pulls.comment_form.comment_on_name', { name }),
      path,
      side,
      line,
      isAtLine: true,
      lines,
      ...typed,
    },
    path,
    side,
    lastLine: comment === undefined ? last : line,
  };
}
