"""How much the tests notice: random changes of the code, each built and tried."""
