import { chooseLanguage, inLanguage } from '../../translation/index.ts';
import type { Context } from './context.ts';

/** The language of a request: of the account, of the browser, or of the server. Makes no database query. */
export const languageOf = ({ state, req }: Pick<Context, 'state' | 'req'>, locale: string): string =>
  chooseLanguage(state.identity.person?.language, req.headers['accept-language'], locale);

/** Runs a page handler in the language of its request. */
export const inLanguageOf = <Result>(ctx: Pick<Context, 'state' | 'req'>, locale: string, act: () => Result): Result =>
  inLanguage(languageOf(ctx, locale), act);
