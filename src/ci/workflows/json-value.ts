/** Any value that both YAML and JSON can represent. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
