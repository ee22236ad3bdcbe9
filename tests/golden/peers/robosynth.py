from golden.peers.rows import Trials

TRY = Trials()
