/** The forms that the human check stands in, as its verifier is told and tells again: what was solved for one is good for no other. */
export type HumanAction = 'login' | 'register' | 'reset' | 'address'
