export { createSingleSignOn } from './single-sign-on.ts';
export type { SingleSignOn, SingleSignOnOptions } from './single-sign-on.ts';
export type { ProviderStatus } from './provider-client.ts';
export type { ProviderAccount } from './provider-account.ts';
export type { RequestPurpose, SignInRequest } from './sign-in-request.ts';
