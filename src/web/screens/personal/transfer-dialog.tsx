import { useText } from '../../lib/i18n.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { TransferForm } from '../../ui/form/transfer-form.tsx'
import { texts } from './texts.ts'

export function TransferDialog({ available, onClose }: { available: number; onClose: () => void }) {
  const say = useText(texts)
  return (
    <Dialog title={say('transferTitle')} size="md" onClose={onClose}>
      <TransferForm available={available} onDone={onClose} />
    </Dialog>
  )
}
