/** The forms with a human check, as the verifier gets and returns them: a check solved for one is invalid for others. */
export type HumanAction = 'login' | 'register' | 'reset' | 'address'
