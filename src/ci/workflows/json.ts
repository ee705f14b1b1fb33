/** Anything that YAML and JSON both can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
