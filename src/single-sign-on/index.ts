export { createSingleSignOn } from './single-sign-on.ts';
export type { SingleSignOn } from './single-sign-on.ts';
export type { ProviderAccount } from './provider-account.ts';
export type { SignInRequest } from './sign-in-request.ts';
