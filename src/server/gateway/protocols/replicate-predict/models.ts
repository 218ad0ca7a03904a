/**
 * The input names of a model. Each model declares its own, and rejects unknown ones with 422; models of the same owner have similar
 * ones. Source: the input schemas of the official models, read 2026-11.
 */
export interface InputNames {
  readonly outputLimit: string
  readonly outputLimitMin: number
  /** Null when the model accepts no images. */
  readonly image: { readonly name: string; readonly isList: boolean } | null
  readonly sampling: Readonly<
    Partial<Record<'temperature' | 'topP' | 'topK' | 'presencePenalty' | 'frequencyPenalty' | 'seed', string>>
  >
  /** The member for stop sequences, separated by commas; null when the model has none. */
  readonly stop: string | null
  readonly reasoningEffort?: true
}

const usual: InputNames = {
  outputLimit: 'max_tokens',
  outputLimitMin: 1,
  image: null,
  sampling: {
    temperature: 'temperature',
    topP: 'top_p',
    topK: 'top_k',
    presencePenalty: 'presence_penalty',
    frequencyPenalty: 'frequency_penalty',
  },
  stop: 'stop_sequences',
}

const byOwner: Readonly<Record<string, InputNames>> = {
  openai: {
    outputLimit: 'max_completion_tokens',
    outputLimitMin: 1,
    image: { name: 'image_input', isList: true },
    sampling: {
      temperature: 'temperature',
      topP: 'top_p',
      presencePenalty: 'presence_penalty',
      frequencyPenalty: 'frequency_penalty',
    },
    stop: null,
    reasoningEffort: true,
  },
  anthropic: {
    outputLimit: 'max_tokens',
    outputLimitMin: 1024,
    image: { name: 'image', isList: false },
    sampling: {},
    stop: null,
  },
  google: {
    outputLimit: 'max_output_tokens',
    outputLimitMin: 1,
    image: { name: 'images', isList: true },
    sampling: { temperature: 'temperature', topP: 'top_p' },
    stop: null,
  },
}

/** `owner/name`, with or without a version after a colon. */
export function inputNamesOf(model: string): InputNames {
  const owner = model.slice(0, Math.max(model.indexOf('/'), 0))
  return Object.hasOwn(byOwner, owner) ? (byOwner[owner] ?? usual) : usual
}

/** The version of a community model, which has another path; undefined for an official one. */
export function versionOf(model: string): string | undefined {
  const colon = model.indexOf(':')
  return colon < 0 ? undefined : model.slice(colon + 1)
}
