import { Button, Textarea } from '@mantine/core'
import type { ClipboardEvent } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { toast } from '../../../lib/toast.ts'
import styles from './form.module.css'
import { type ChannelFormState, listOf, withNames } from './form-values.ts'
import { texts } from './texts.ts'

/** Takes the names of a text among the models; one that is no list stays, with the reason. */
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

/** Lists of JSON are read as such where they are pasted among names, which commas would tear apart. */
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
