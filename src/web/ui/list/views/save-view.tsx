import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { savedViewLimits } from '../../../../contract/entities/saved-view.ts'
import { useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { Dialog } from '../../dialog/dialog.tsx'
import shared from '../../shared.module.css'
import { texts as uiTexts } from '../../texts.ts'
import { shownNow } from './shown.ts'
import { texts } from './texts.ts'
import type { ViewsInput } from './use-views.ts'

/** Stores the current state of the list as a named view. */
export function SaveView(props: ViewsInput & { readonly onClose: () => void }) {
  const say = useText(texts)
  const sayShared = useText(uiTexts)
  const [name, setName] = useState('')
  const [isDefault, setDefault] = useState(false)
  const save = useWrite('POST /api/user/self/views', {
    invalidates: ['GET /api/user/self/views'],
    success: say('saved'),
    onSuccess: props.onClose,
  })

  function submit(event: FormEvent): void {
    event.preventDefault()
    const named = name.trim()
    if (named === '' || save.isPending) return
    save.mutate({ body: { list: props.viewed.list, name: named, is_default: isDefault, ...shownNow(props) } })
  }

  return (
    <Dialog title={say('saveTitle')} size="md" onClose={props.onClose}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <p className={shared.hint}>{say('saveHint')}</p>
          <TextInput
            data-autofocus
            label={say('name')}
            maxLength={savedViewLimits.nameLengthMax}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Checkbox label={say('isDefault')} checked={isDefault} onChange={(event) => setDefault(event.currentTarget.checked)} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
              {sayShared('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
