import { Button, Textarea } from '@mantine/core'
import type { ClipboardEvent } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { toast } from '../../../lib/toast.ts'
import styles from './form.module.css'
import { type ChannelFormState, listOf, withNames } from './form-values.ts'
import { texts } from './texts.ts'

/** Adds the names of a text to the models; a text that is not a list stays in the field, with the reason. */
function useTake(form: ChannelFormState): (text: string) => void {
  const say = useText(texts)
  return (text) => {
    const names = listOf(text)
    form.setFieldValue('more_models', names ? '' : text)
    if (!names) {
      form.setFieldError('more_models', say('modelsNoList'))
      return
    }
    const { models } = form.getValues()
    if (names.some((name) => models.includes(name))) toast.warn(say('modelsExist'))
    form.setFieldValue('models', withNames(models, names))
  }
}

/** A pasted JSON list is parsed as such; splitting it at commas would break it. */
export function usePastedList(form: ChannelFormState): (event: ClipboardEvent) => void {
  const take = useTake(form)
  return (event) => {
    const text = event.clipboardData.getData('text/plain')
    if (!/^\s*[[{]/.test(text)) return
    event.preventDefault()
    event.stopPropagation()
    take(text)
  }
}

/** Names typed or pasted by hand. */
export function TypedModels({ form }: { form: ChannelFormState }) {
  const say = useText(texts)
  const take = useTake(form)
  return (
    <div className={styles.custom}>
      <Textarea
        aria-label={say('customModels')}
        placeholder={say('customModels')}
        autosize
        minRows={1}
        maxRows={6}
        spellCheck={false}
        {...form.getInputProps('more_models')}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          take(form.values.more_models)
        }}
      />
      <Button variant="default" onClick={() => take(form.values.more_models)}>
        {say('fill')}
      </Button>
    </div>
  )
}
